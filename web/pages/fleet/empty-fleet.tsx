/** The way to a first device: a button for administrators, and the README's commands. */

import { addressOf } from '../../client/address.ts'
import { visitor } from '../../client/session.ts'
import { navigationFor } from '../../theme/frame.ts'
import { firstReading } from './first-reading.ts'

export function EmptyFleet() {
  const mayAdd = navigationFor(visitor.value).some(({ page }) => page === 'admin')
  return (
    <section class="card" aria-labelledby="empty-title">
      <h2 id="empty-title">No device yet</h2>
      {mayAdd ? (
        <p>
          <a class="button strong" href={addressOf('/admin')}>
            Add a device
          </a>
        </p>
      ) : null}
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
