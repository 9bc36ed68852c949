/**
 * A failed assertion: `if (…) throw bug(…)`, which formats on failure only. Use it for states that only a wrong change of the
 * code can cause, never for faults of a caller, a disk or a database. The work stops, and no caller may catch the error to
 * continue. Consequences where state is kept:
 *
 * - In the threads of the journal and the forwarder the error is not caught: the service stops. Acknowledged data is in the
 *   journal, from which the next start continues. Waiting senders get no answer, and their outcome is unknown. So the assertion
 *   stands before a segment is removed, a lane continues or a sender is answered.
 * - In a listener to stored records it is logged. The records are durable and acknowledged; the live state lacks them.
 * - In a request, such as one that claims a key or shows a session, the answer is a 500, and nothing is acknowledged.
 * - In retention the run ends before anything is removed. The fault is shown until a run succeeds.
 * - In saving last-seen times, and in reading the outcome of a registry change in doubt, it is logged and retried: the times stay
 *   unsaved, and no other device is changed.
 */
export function bug(message: string): Error {
  return new Error(`BUG: ${message}`)
}
