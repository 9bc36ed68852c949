/**
 * An assertion that failed: `if (…) throw bug(…)`, which formats on failure only. It is for what a wrong change of the code
 * could break, never for what a caller, a disk or a database may do. The work stops, and nobody catches this to carry on. What
 * that means where state is kept:
 *
 * - In the journal, in its thread and in the forwarder's, nobody catches it: the service stops. What was acknowledged is in the
 *   journal, from which the next start goes on; who waits for an answer gets none, and the outcome is unknown. So the assertion
 *   stands before a segment is removed, a lane goes on or a sender is answered.
 * - In a listener to stored records it is logged. They are on the disk and acknowledged; the live state lacks them.
 * - In a request, such as one that claims a key or shows a session, the answer is a 500, and nothing is acknowledged.
 * - In retention the run ends before anything is removed, and the fault is shown until a run succeeds.
 * - Where last-seen times are saved, and where the registry reads what came of a change in doubt, it is logged and tried again:
 *   the times stay unsaved, and no other device is changed.
 */
export function bug(message: string): Error {
  return new Error(`BUG: ${message}`)
}
