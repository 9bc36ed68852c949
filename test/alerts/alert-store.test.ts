/** Alerts, their rules and notifications on a real PostgreSQL. */

import './outbox/erased-devices.ts'
import './outbox/flush.ts'
import './outbox/kills.ts'
import './outbox/outbox.ts'
import './store/apply.ts'
import './store/rules.ts'
