/** Single flight: callers that want what is already being made wait for the same result. */

export interface SingleFlight<T> {
  /**
   * Waits for the call with this key, or starts it. A client that leaves no longer waits, and a call that nobody waits for
   * is told to stop; without a client the call runs to its end.
   */
  run(key: string, start: (signal: AbortSignal) => Promise<T>, client?: AbortSignal): Promise<T>
}

interface Call<T> {
  readonly result: Promise<T>
  readonly stopping: AbortController
  waiters: number
}

export function createSingleFlight<T>(): SingleFlight<T> {
  const calls = new Map<string, Call<T>>()

  function run(key: string, start: (signal: AbortSignal) => Promise<T>, client?: AbortSignal): Promise<T> {
    const call = calls.get(key) ?? begin(key, start)
    call.waiters++
    const leave = () => {
      call.waiters--
      if (call.waiters > 0) return
      // From here on a new waiter needs a new call.
      forget(key, call)
      call.stopping.abort()
    }
    if (client?.aborted === true) leave()
    else client?.addEventListener('abort', leave, { once: true })
    return call.result
  }

  function begin(key: string, start: (signal: AbortSignal) => Promise<T>): Call<T> {
    const stopping = new AbortController()
    const call: Call<T> = {
      result: start(stopping.signal).finally(() => forget(key, call)),
      stopping,
      waiters: 0,
    }
    calls.set(key, call)
    return call
  }

  function forget(key: string, call: Call<T>): void {
    if (calls.get(key) === call) calls.delete(key)
  }

  return { run }
}
