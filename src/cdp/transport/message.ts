/** One CDP message, either way: a command (`id`, `method`), its answer (`id`) or an event (`method`). */
export interface CdpMessage {
  id?: number;
  /** Absent for the browser itself. */
  sessionId?: string;
  method?: string;
  params?: object;
  result?: unknown;
  error?: { code?: number; message?: string };
}
