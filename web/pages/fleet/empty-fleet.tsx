/** The README's commands, shown while no device exists. */

import { firstReading } from './first-reading.ts'

export function EmptyFleet() {
  return (
    <section class="card" aria-labelledby="empty-title">
      <h2 id="empty-title">No device yet</h2>
      <p>
        Add one where the service runs, where <code>PORT</code> and <code>DATA_DIR</code> are the same if they are set;
        this prints its password, which is shown only once:
      </p>
      <pre>{firstReading.add}</pre>
      <p>Use the password to send a reading:</p>
      <pre>{firstReading.send(location.origin)}</pre>
      <p>It appears here by itself.</p>
      <p>Where reads are private, this page shows the devices that you own. An administrator gives them to you.</p>
    </section>
  )
}
