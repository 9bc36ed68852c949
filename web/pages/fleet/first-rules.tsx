/** Two common rules for a fleet without any. */

import { useState } from 'preact/hooks'
import { addressOf } from '../../client/address.ts'
import { browserStorage } from '../../client/browser-storage.ts'
import { lastValue } from '../../client/resource-state.ts'
import { isSignedIn } from '../../client/session.ts'
import { useResource } from '../../client/use-resource.ts'
import { Banner } from '../../parts/banner.tsx'
import { presets } from '../alerts/rule-presets.ts'

const storageKey = 'barograph.first-rules'

export function FirstRules() {
  const [isDismissed, setDismissed] = useState(readDismissed)
  const isAsked = isSignedIn.value && !isDismissed
  const rules = lastValue(
    useResource<{ rules: unknown[] }>(isAsked ? addressOf('/api/alert-rules?limit=1') : undefined),
  )
  if (!isAsked || rules === undefined || rules.rules.length > 0) return null
  const dismiss = () => {
    writeDismissed()
    setDismissed(true)
  }
  return (
    <Banner kind="note" onDismiss={dismiss}>
      <p>No rule notifies you yet.</p>
      <p class="actions">
        {Object.entries(presets).map(([name, { title }]) => (
          <a key={name} class="button" href={addressOf(`/alerts/rules/new?preset=${name}`)}>
            {title}
          </a>
        ))}
      </p>
    </Banner>
  )
}

/** Where the browser stores nothing, the hint returns with the next visit. */
function readDismissed(): boolean {
  try {
    return browserStorage().getItem(storageKey) !== null
  } catch {
    return false
  }
}

function writeDismissed(): void {
  try {
    browserStorage().setItem(storageKey, 'dismissed')
  } catch {
    // It ends with the page.
  }
}
