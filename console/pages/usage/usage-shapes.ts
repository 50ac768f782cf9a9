import type { Shapes } from "../../api/shapes";

export type TenantUsage = Shapes["TenantUsage"];
export type UsageItem = Shapes["UsageItem"];
export type Work = Shapes["Work"];
