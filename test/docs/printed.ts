// The output of each example, by its name.
export const printed: Record<string, RegExp> = {
  "sage-tools.mjs": /^$/, // a module: Sage loads it, see test/cli/modules.test.ts
  "otel.mjs": /^$/, // loaded before Sage, see test/cli/traces.test.ts
  "custom-tool": /杭州: 21 °C, clear\nTake no umbrella/,
  "auto-responder": /ls -a \/ → ran\nrm -rf build → Not run: .*only listing is fine here/,
  subagent: /no mistakes\nIt can go out\./,
  skill:
    /Publish 2\.0: run the tests[^]*Write: Not run: the skill in use works with Read, Bash only[^]*I will not write/,
  "ten-lines": /^Then the build stays\.\n$/,
  "answer-from-code": /asked: Which database\?\nSQLite it is\./,
  "writing-tool": /asked: Note \{"line":"buy milk"\}\nIt is on the list\.\nbuy milk\n/,
  "asking-tool": /asked: Who is the guest\?\nasked: What does Ada talk about\?\nAda, who talks about engines/,
  executor: /^true\ntrue\ntimeout\n$/,
  hooks: /^after Bash true\nNot run: Releases are made by the pipeline\.\nwould run: npm publish\n$/,
  suggestions: /^suggested: allow Bash\(npm config:\*\)\nLooked at both\. asked: 1\n$/,
  parts: /^Results of library for "herons"\n[^]*They are on shelf 3[^]*On shelf 3\.\n$/,
  strategy: /t0\/0\/0\/run0\.finished: hello\nSaid hello/,
  "long-conversation":
    /word for word, oldest first:\n\[message 1\]\nRead the log of every day\n[^]*The first days were read[^]*13 steps, 16 messages/,
  "bad-day": /large was asked 6 times\nopenai\/small replied: Still here\./,
  habits: /^(call: stopped on the way, after 7 at least\n|turn: I was interrupted, and heard why\.\n){4}$/,
  "own-model": /You used 5 words/,
  "web-server": /^data: \{"type":"end","text":"It works\."\}\n$/,
  "queue-worker": /waits for a person: true\nDeployment is planned\./,
  "own-store": /Hello\. Facts were written\.\nt0\/0 Hello\. 0 tokens/,
  turns: /pending: question\nneeds input: true\nasked: Which port\?\nListening on 8080\./,
  traces:
    /^Said hello\.\ninvoke_agent sage\n  chat scripted\n  wait permission\n  execute_tool Bash\n  chat scripted\n$/,
  inquiry:
    /needs input: true\nreply: Because the file holds ideas[^]*still asked: true\nNot run: the person refused it[^]*Ada asked: "Why rename it\?" You replied: "Because/,
  persona:
    /success - Understood: nothing from the network\.\nNot run: the person refused it\. Their reason: "Nothing from the network\."/,
  replay: /success - released 2\.0\nneeds-input - 1 request/,
  surface: /asks: Bash .*node -p 1\+1.*\ncall: Bash done\nsays: It works/,
};
