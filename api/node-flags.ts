/**
 * What Node is started with. Without a limit V8 grows the room for short-lived values to 130 MB in a service that has
 * been busy once; with it to a quarter, at the same speed. `gc` is for the end of the start (main.ts).
 */
export const nodeFlags = ['--expose-gc', '--max-semi-space-size=16']
