/** One flight per key: whoever asks what is already being asked waits for the same answer. */

export interface Flights<T> {
  /**
   * Joins the flight with this key, or starts it. A client that leaves gives up its seat, and a flight without
   * passengers is told to stop; without a client the flight goes on to its end.
   */
  join(key: string, start: (signal: AbortSignal) => Promise<T>, client?: AbortSignal): Promise<T>
}

interface Flight<T> {
  readonly answer: Promise<T>
  readonly stopping: AbortController
  passengers: number
}

export function createFlights<T>(): Flights<T> {
  const flights = new Map<string, Flight<T>>()

  function join(key: string, start: (signal: AbortSignal) => Promise<T>, client?: AbortSignal): Promise<T> {
    const flight = flights.get(key) ?? begin(key, start)
    flight.passengers++
    const leave = () => {
      flight.passengers--
      if (flight.passengers > 0) return
      // From here on a new passenger needs a new flight.
      land(key, flight)
      flight.stopping.abort()
    }
    if (client?.aborted === true) leave()
    else client?.addEventListener('abort', leave, { once: true })
    return flight.answer
  }

  function begin(key: string, start: (signal: AbortSignal) => Promise<T>): Flight<T> {
    const stopping = new AbortController()
    const flight: Flight<T> = {
      answer: start(stopping.signal).finally(() => land(key, flight)),
      stopping,
      passengers: 0,
    }
    flights.set(key, flight)
    return flight
  }

  function land(key: string, flight: Flight<T>): void {
    if (flights.get(key) === flight) flights.delete(key)
  }

  return { join }
}
