# Sage as a daemon, for Feishu and Lark. This file was never run: no image could be had where it was written.
#   docker build -t sage .
#   docker run -d --name sage --restart unless-stopped -v sage:/home/node/.sage -v "$PWD:/work" --env-file sage.env sage
# sage.env holds the key of a model and FEISHU_APP_ID, FEISHU_APP_SECRET, FEISHU_APPROVERS. Nothing listens outside of the container: the long
# connection goes out. For the webhook add `-p 8787:8787` and `sage serve --host 0.0.0.0`.

FROM node:24-bookworm-slim AS package
WORKDIR /src
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run release -- --stage && cd release/sage-agent && npm install --omit=dev --ignore-scripts --no-audit --no-fund

FROM node:24-bookworm-slim
# What the agent's commands need; add the tools of your project.
RUN apt-get update && apt-get install -y --no-install-recommends git ca-certificates tini && rm -rf /var/lib/apt/lists/*
COPY --from=package /src/release/sage-agent /opt/sage
RUN ln -s /opt/sage/dist/bin.mjs /usr/local/bin/sage && mkdir -p /home/node/.sage /work && chown node:node /home/node/.sage /work
USER node
ENV SAGE_HOME=/home/node/.sage
VOLUME ["/home/node/.sage"]
WORKDIR /work
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:8787/health').then(({ ok }) => process.exit(ok ? 0 : 1), () => process.exit(1))"]
# SIGTERM reaches the daemon, which then leaves in good order; orphans of commands are collected.
ENTRYPOINT ["tini", "--"]
CMD ["sage", "serve", "--log", "json"]
