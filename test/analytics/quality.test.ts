/** Suspect readings, cadences and reliability. */

import './quality/anomalies.ts'
import './quality/cadence.ts'
import './quality/cadence-changes.ts'
import './quality/freshness.ts'
import './quality/hampel.ts'
import './quality/quality.ts'
import './quality/quantum.ts'
import './quality/reliability.ts'
import './quality/still.ts'
