/** Starts the app in the document that the service sends for all of its addresses. */

import '../theme/base.css'
import './app.css'
import './parts/parts.css'
import { render } from 'preact'
import { App } from './app.tsx'
import { followLinks } from './client/address.ts'
import { startClock } from './client/clock.ts'
import { followFiring } from './client/firing.ts'
import { loadPreferences } from './client/stored-preferences.ts'

followLinks()
startClock()
followFiring()
void loadPreferences()
render(<App />, document.getElementById('app') ?? document.body)
