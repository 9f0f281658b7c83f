import type { OpenFeishu } from "../../../surfaces/feishu/transport/open.ts";

type Measurable = { name: string; channel: Pick<OpenFeishu, "status" | "counts"> };

type DaemonMeasures = {
  /** The bots that this process speaks for. */ bots: readonly Measurable[];
  running(): number;
  waiting(): number;
};

/** Metrics of the daemon for Prometheus. No name of a person, a chat or a session is in it. */
export function metricsText({ bots, running, waiting }: DaemonMeasures): string {
  const lines: string[] = [];
  const metric = (
    name: string,
    type: "gauge" | "counter",
    help: string,
    values: readonly (readonly [string, number])[],
  ) => {
    lines.push(`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`);
    for (const [labels, value] of values) lines.push(`${name}${labels} ${value}`);
  };
  const each = (value: (bot: Measurable) => number) => bots.map((bot) => [`{bot="${bot.name}"}`, value(bot)] as const);
  metric("sage_uptime_seconds", "gauge", "Seconds since the daemon was started", [["", Math.round(process.uptime())]]);
  metric("sage_memory_bytes", "gauge", "Resident memory of the daemon", [["", process.memoryUsage.rss()]]);
  metric("sage_turns_open", "gauge", "Sessions with a turn under way", [["", running()]]);
  metric("sage_requests_open", "gauge", "Requests that wait for a person", [["", waiting()]]);
  metric(
    "sage_feishu_connected",
    "gauge",
    "1 while the bot is connected",
    each(({ channel }) => Number(channel.status().state === "connected")),
  );
  const counters = {
    messages: "Messages taken from people",
    clicks: "Clicks on cards",
    calls: "Calls of the platform, tries included",
    failures: "Calls of the platform that failed",
  } as const;
  for (const [name, help] of Object.entries(counters))
    metric(
      `sage_feishu_${name}_total`,
      "counter",
      help,
      each(({ channel }) => channel.counts()[name as keyof typeof counters]),
    );
  return `${lines.join("\n")}\n`;
}
