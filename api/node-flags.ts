/**
 * The options that Node is started with. `gc` frees once, at the end of the start (run-service.ts), what the start leaves
 * behind: with 20,000 devices the service then takes 172 MB instead of 232, and 308 instead of 354 after statistics and
 * 80,000 readings. --max-semi-space-size and --initial-old-space-size are not set: in single runs on a
 * loaded machine they saved 0 to 25 MB, without a consistent gain. Threads have their limits in store/thread-limits.ts.
 */
export const nodeFlags = ['--expose-gc']
