import type { ZodType } from 'zod';

export const SCHEMA_FILE: string;
export function schemaText(runRecord: ZodType): string;
