import { openPool, publicAddress } from "../../journal/postgres/pool.ts";
import { explained } from "../../journal/postgres/error.ts";
import { misfitOf } from "../../journal/postgres/tables.ts";
import type { SurfaceTable } from "../../journal/postgres/surface-table.ts";
import type { SharedStore } from "../../protocol/host/surface-store.ts";
import { said, SageError } from "../../protocol/reasons/reason.ts";
import type { ClusterTexts } from "../../texts/serve/cluster.ts";

/** Schema, function or table is missing: no gateway was ever here. */
const missing = ["3F000", "42883", "42P01"];

type GatewayMemory = {
  gateways: SurfaceTable["gateways"];
  share(surface: string): Promise<SharedStore>;
  close(): Promise<void>;
};

export async function openGatewayMemory(url: string, t: ClusterTexts): Promise<GatewayMemory> {
  const { surfaceTable } = await import("../../journal/postgres/surface-table.ts");
  const { shareMemory } = await import("../../host/cluster/gateways/shared-memory.ts");
  const pool = await openPool({ connectionString: url, max: 2 });
  const table = surfaceTable(pool);
  const told = async <T>(asked: Promise<T>): Promise<T> => {
    try {
      return await asked;
    } catch (error) {
      const { code = "" } = error as { code?: string };
      if (missing.includes(code)) throw new SageError("config-invalid", said(t.doctor.noJournal), { cause: error });
      throw explained(publicAddress(url), error);
    }
  };
  const why = await told(misfitOf(pool, publicAddress(url)));
  if (why && why.code !== "functions-newer") {
    await pool.end();
    throw new SageError("config-invalid", why);
  }
  return {
    gateways: () => told(table.gateways()),
    share: (surface) => told(shareMemory(table, surface)),
    close: () => pool.end(),
  };
}
