/** Starts the app in the document that the service sends for all of its addresses. */

import './theme/base.css'
import './app.css'
import './parts/parts.css'
import { render } from 'preact'
import { App } from './app.tsx'
import { followLinks } from './client/address.ts'
import { startClock } from './client/clock.ts'
import { followFiring } from './client/firing.ts'
import { hasLink, readByLink, sharedFace } from './client/shared-view.ts'
import { loadBrowserPreferences, loadPreferences } from './client/stored-preferences.ts'

startClock()
const root = document.getElementById('app') ?? document.body
const face = sharedFace()
if (face !== undefined) {
  if (hasLink(face)) {
    readByLink()
    loadBrowserPreferences()
  } else {
    followFiring()
    void loadPreferences()
  }
  if (face === 'wall') void import('./wall/wall-app.tsx').then(({ WallApp }) => render(<WallApp />, root))
  else void import('./shared/shared-app.tsx').then(({ SharedApp }) => render(<SharedApp face={face} />, root))
} else {
  followLinks()
  followFiring()
  void loadPreferences()
  render(<App />, root)
}
