/** `secret` is what is taken out; `before` and `after` tell it from ordinary text and stay. */
type SecretPattern = { pattern: RegExp; worth?: (secret: string) => boolean };

/** Tokens by the marks that their issuers gave them, so that they are recognised wherever they stand. */
const tokens = [
  // models
  String.raw`sk-[\w-]{16,} gsk_\w{40,} xai-\w{40,} pplx-\w{30,} nvapi-[\w-]{30,} hf_[A-Za-z0-9]{30,}`,
  String.raw`r8_[A-Za-z0-9]{30,} tvly-[\w-]{20,} lsv2_(?:pt|sk)_\w{30,} esecret_\w{20,}`,
  // code and its delivery
  String.raw`gh[pousr]_[A-Za-z0-9]{20,} github_pat_\w{20,}`,
  String.raw`gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|oas|soat|ffct)-[\w.-]{16,} AT(?:ATT|CTT|BB)3?[\w=-]{20,}`,
  String.raw`npm_[A-Za-z0-9]{30,} pypi-[\w-]{30,} rubygems_[0-9a-f]{40,} oy2[a-z0-9]{43} cio[A-Za-z0-9]{32}`,
  String.raw`CLOJARS_[0-9a-z]{50,} dckr_[po]at_[\w-]{20,} bkua_[0-9a-f]{30,} CCI(?:PAT|PRJ)_\w{20,}`,
  String.raw`sntry[su]_[\w=+/-]{30,} sgp_\w{30,} sq[upa]_[0-9a-f]{40} AKCp[A-Za-z0-9]{50,}`,
  String.raw`PMAK-[0-9a-f]{24}-[0-9a-f]{30,}`,
  // clouds
  String.raw`A(?:KI|SI|BI|CC)A[A-Z0-9]{12,} AIza[\w-]{30,} GOCSPX-[\w-]{20,} ya29\.[\w-]{20,} 1//0[\w-]{30,}`,
  String.raw`LTAI[A-Za-z0-9]{12,} AKID[A-Za-z0-9]{30,} AKLT[\w=]{30,} bce-v3/ALTAK-\w+/\w{30,} AQVN[\w-]{30,}`,
  String.raw`do[opr]_v1_[0-9a-f]{40,} HRKU-[\w-]{30,} f[mo][12]_[\w=+/,-]{30,} nf[pco]_\w{30,} pul-[0-9a-f]{40}`,
  String.raw`sb(?:p|_secret)_\w{30,} pscale_(?:tkn|pw|oauth)_[\w.-]{30,} dapi[0-9a-f]{32} tskey-[a-z]+-[\w-]{20,}`,
  String.raw`v1\.0-[0-9a-f]{24}-[0-9a-f]{100,} [\w~.-]{3}\dQ~[\w~.-]{31,34} sha256~[\w-]{40,}`,
  // vaults and keys
  String.raw`hv[sbr]\.[\w-]{20,} [A-Za-z0-9]{14}\.atlasv1\.[\w-]{50,} dp\.(?:pt|st|ct|sa|scim|audit)\.[\w.-]{30,}`,
  String.raw`AGE-SECRET-KEY-1[A-Z0-9]{50,} ops_eyJ[\w-]{50,} A3(?:-[A-Z0-9]{5,6}){5,}`,
  // what people talk and pay with
  String.raw`xox[abcdeprs][-.][\w.%-]{12,} xapp-[\w-]{12,} \d{8,10}:AA[\w-]{30,}`,
  String.raw`[MNO][\w-]{22,27}\.[\w-]{6}\.[\w-]{27,} SG\.[\w-]{16,}\.[\w-]{16,} key-[0-9a-f]{32}`,
  String.raw`[0-9a-f]{32}-us\d{1,2} SK[0-9a-f]{32} xkeysib-[0-9a-f]{40,}-\w+ [srp]k_(?:live|test|prod)_\w{16,}`,
  String.raw`whsec_[\w+/=]{20,} shp(?:at|ca|pa|ss)_[0-9a-fA-F]{30,} sq0[a-z]{3}-[\w-]{20,} EAAA[\w-]{50,}`,
  String.raw`EZ[AT]K\w{50,} FLWSECK[\w-]{20,} duffel_(?:live|test)_[\w=-]{30,} shippo_(?:live|test)_[0-9a-f]{30,}`,
  String.raw`re_[A-Za-z0-9]{6,}_[A-Za-z0-9]{20,} lin_(?:api|oauth)_[A-Za-z0-9]{30,} ntn_[A-Za-z0-9]{40,}`,
  String.raw`secret_[A-Za-z0-9]{43} sage(?:key|link)_[\w-]{32,} figd_[\w-]{30,} pat[A-Za-z0-9]{14}\.[0-9a-f]{60,}`,
  String.raw`CFPAT-[\w-]{40,} sl\.[\w-]{100,} tfp_[\w.-]{40,} gl(?:sa|c)_[\w=+/-]{30,} NR(?:AK|JS|II)-[\w-]{20,}`,
  String.raw`[0-9a-f]{36}NRAL dt0[a-z]\d\d\.\w{20,}\.\w{50,}`,
].flatMap((line) => line.split(" "));

/** Addresses that let whoever knows them in. */
const addresses = [
  "hooks\\.slack\\.com/(?:services|workflows|triggers)/",
  "discord(?:app)?\\.com/api/webhooks/\\d+/",
  "[\\w-]+\\.webhook\\.office\\.com/webhookb2/",
  "open\\.(?:feishu\\.cn|larksuite\\.com)/open-apis/bot/v2/hook/",
  "qyapi\\.weixin\\.qq\\.com/cgi-bin/webhook/send\\?key=",
  "hooks\\.zapier\\.com/hooks/catch/",
];

const keys = "api|access|private|secret|auth|account|storage|master|encrypt(?:ion)?|signing|shared|session|app|service";
const words = `pass(?:word|wd|phrase|code)|pwd|secret|(?:${keys})[-_]?key|client[-_]key[-_]data|token|credentials?|cookie|authorization`;

/** A field of this name holds a secret, whatever it looks like. */
export const secretField = new RegExp(`(?:${words})$`, "i");

/** A user's name and password before a host: `before` ends with the colon, `after` begins with the at sign. */
export const urlPassword = /(?<before>:\/\/[^\s/:@"'<>]{0,200}:)(?<secret>[^\s/"'<>]{1,500})(?<after>@)/g;

export const secretPatterns: readonly SecretPattern[] = [
  {
    pattern:
      /(?<secret>-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[^]{0,20000}?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$))/g,
  },
  {
    pattern:
      /(?<before>\bPrivate-Lines: \d+\r?\n)(?<secret>[A-Za-z0-9+/=]{1,100}(?:\r?\n[A-Za-z0-9+/=]{1,100}(?=\r?\n|$)){0,200})/g,
  },
  { pattern: new RegExp(`(?<![A-Za-z0-9_])(?<secret>${tokens.join("|")})`, "g"), worth: spelledAtRandom },
  { pattern: /(?<![A-Za-z0-9])(?<secret>(?:sk\.)?eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{4,})/g },
  { pattern: new RegExp(`(?<before>https://(?:[\\w-]+\\.)?(?:${addresses.join("|")}))(?<secret>[\\w/@.-]{16,})`, "g") },
  { pattern: urlPassword },
  { pattern: /(?<before>:\/\/)(?<secret>[\w-]{20,200})(?<after>@)/g, worth: random },
  { pattern: /(?<before>[?&](?:sig|signature|x-amz-signature)=)(?<secret>[\w%+/=-]{16,})/gi },
  { pattern: /(?<before>\b(?:bearer|basic)\s+)(?<secret>[A-Za-z0-9._~+/=-]{8,})/gi, worth: (s) => /[^a-z]/.test(s) },
  {
    pattern: /(?<before>\bauthorization["']?\s*[:=]\s*["']?[A-Za-z-]{1,20}\s+)(?<secret>[^\s"',]{8,})/gi,
    worth: random,
  },
  // Programs that are told a password without saying so.
  { pattern: /(?<before>\blogin\s+\S{1,200}\s+password\s+)(?<secret>\S{1,500})/g },
  { pattern: /(?<before>\bcurl\b[^\n|;&]{0,300}?\s(?:-u|--user)[ =]["']?[^\s:"']{1,100}:)(?<secret>[^\s"']{1,200})/g },
  { pattern: /(?<before>\bsshpass\s+-p\s*["']?)(?<secret>[^\s"']{1,200})/g, worth: literal },
  { pattern: /(?<before>\bmysql(?:dump|admin)?\b[^\n|;&]{0,300}?\s-p["']?)(?<secret>[^\s"']{3,200})/g, worth: literal },
  { pattern: /(?<before>\bidentified\s+by\s+["'])(?<secret>[^"'\n]{1,200})/gi },
  // `password=…` and `--password …` as a shell or an address writes them: whatever follows is it.
  {
    pattern: new RegExp(String.raw`(?<before>\b[\w.-]{0,60}(?:${words})=["']?)(?<secret>[^\s"'&;,]{4,})`, "gi"),
    worth: literal,
  },
  {
    pattern: new RegExp(
      String.raw`(?<before>--?[\w-]{0,60}(?:${words})\s+["']?)(?<secret>[^\s"'&;,-][^\s"'&;,]{3,})`,
      "gi",
    ),
    worth: literal,
  },
  // `"token": "…"`: prose and programs write so too, so only what no word looks like.
  {
    pattern: new RegExp(
      String.raw`(?<before>\b[\w.-]{0,60}(?:${words})["']?\s*[:=]\s*["']?)(?<secret>[^\s"'&;,()<>{}]{6,})`,
      "gi",
    ),
    worth: random,
  },
  { pattern: /(?<before>(?<![A-Za-z])pass["']?\s*[:=]\s*["']?)(?<secret>[^\s"'&;,()<>{}]{6,})/gi, worth: random },
  {
    pattern: /(?<before>(?:密码|口令|密钥|令牌)["']?\s*[:：=为是]\s*["'“]?)(?<secret>[^\s"'”，。；、&;,()<>{}]{6,})/g,
    worth: random,
  },
];

/** Each pattern needs one of these; most variables of an environment have none, and are not looked at in twenty ways. */
const suspicious = /[\d\s:=]|eyJ|[^\0-\x7f]/;

export function holdsSecret(text: string): boolean {
  if (!suspicious.test(text)) return false;
  return secretPatterns.some(({ pattern, worth }) =>
    [...text.matchAll(pattern)].some(({ groups }) => !worth || worth(groups?.["secret"] ?? "")),
  );
}

/** Issuers draw their tokens: a name somebody chose has no digit in it, or nothing else. */
function spelledAtRandom(text: string): boolean {
  return /\d/.test(text) && /[A-Za-z]/.test(text);
}

/** Not the name of where the secret is kept, nor a path. */
function literal(text: string): boolean {
  return !/^[$%{(<]|^(?:~|\.{0,2})\/[\w./-]*$/.test(text);
}

function random(text: string): boolean {
  return literal(text) && /\d/.test(text) && /[A-Za-z]/.test(text) && !/[.(]\w*\(?$/.test(text);
}
