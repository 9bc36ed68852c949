/** The pages without a browser: values, sentences, charts and forms as functions. */

import './logic/admin-logic.ts'
import './logic/alert-rules.ts'
import './logic/charts.ts'
import './logic/client.ts'
import './logic/device-data.ts'
import './logic/device-kinds.ts'
import './logic/fleet-view.ts'
import './logic/sentences.ts'
import './logic/units.ts'
