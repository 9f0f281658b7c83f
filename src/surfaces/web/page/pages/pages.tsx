export { DevicesPage } from "../state/devices.tsx";
export { ReceiptsPage } from "./receipts.tsx";
export { RulesPage } from "./rules.tsx";
export { SessionsPage } from "./sessions.tsx";
export { StatsPage } from "./stats.tsx";
