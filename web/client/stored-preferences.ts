/** Stores preferences in the account of a signed-in person, and in the browser, which is read first. */

import { signal } from '@preact/signals'
import { type Preferences, preferences } from '../text/preferences.ts'
import { languageFor, t, words } from '../words/words.ts'
import { addressOf } from './address.ts'
import { browserStorage, choicesIn, readStored, writeStored } from './browser-storage.ts'
import { readJson } from './read-json.ts'
import { isSignedIn, type Session, visitor, visitorIn } from './session.ts'

/** The place of the shown preferences: `account` once the account has confirmed them, `unsent` before. */
export const keptIn = signal<'browser' | 'unsent' | 'sending' | 'account'>('browser')

const accountPath = '/v1/auth/me/preferences'
const timeoutMs = 15_000

/** Applies the browser's preferences. */
export function loadBrowserPreferences() {
  const stored = readStored(browserStorage)
  preferences.value = stored.preferences
  return stored
}

/** Applies the browser's preferences at once, then the account's. Must be called once. */
export async function loadPreferences(): Promise<void> {
  const stored = loadBrowserPreferences()
  if (!(await hasSession())) return
  const outcome = await readJson<Preferences>(addressOf(accountPath))
  if (outcome.kind !== 'answer') return
  isSignedIn.value = true
  const ofAccount = choicesIn(outcome.value)
  const hasChosen = Object.values(outcome.value).some(choice => choice !== null)
  // Choices made before the sign-in stay until a choice is made in the account.
  if (hasChosen || stored.isCopy) {
    show(ofAccount, true)
    applyLanguage()
  }
  keptIn.value = isShown(ofAccount) ? 'account' : 'unsent'
}

/** Another language is loaded with the document. Storage that cannot be written has no effect. */
function applyLanguage(): void {
  if (languageFor(readStored(browserStorage).preferences.language) !== words.language) location.reload()
}

/** Auth.js answers null without a session. Where another service signs people in, only the account's answer counts. */
async function hasSession(): Promise<boolean> {
  const session = await readJson<Session>(addressOf('/auth/session'))
  if (session.kind === 'answer') {
    visitor.value = visitorIn(session.value)
    return session.value !== null
  }
  return session.kind === 'failure' && session.failure.kind === 'missing'
}

function show(chosen: Preferences, isCopy: boolean): void {
  writeStored(browserStorage, { preferences: chosen, isCopy })
  if (!isShown(chosen)) preferences.value = chosen
}

const isShown = (chosen: Preferences) => JSON.stringify(chosen) === JSON.stringify(preferences.peek())

let sending: Promise<unknown> = Promise.resolve()

/** Applies at once. Resolves with the reason why the account did not store it, or undefined. */
export function changePreferences(change: Partial<Preferences>): Promise<string | undefined> {
  // The copy of the account's preferences is made once it has confirmed them.
  show({ ...preferences.peek(), ...change }, false)
  if (keptIn.peek() === 'browser') {
    applyLanguage()
    return Promise.resolve(undefined)
  }
  keptIn.value = 'sending'
  // Sends run one after the other, so that the last one wins. Each sends all choices, since the account may lack the
  // browser's.
  const sent = sending.then(async () => {
    const chosen = preferences.peek()
    const failure = await sendToAccount(chosen)
    if (isShown(chosen)) {
      if (failure === undefined) show(chosen, true)
      keptIn.value = failure === undefined ? 'account' : 'unsent'
      if (failure === undefined) applyLanguage()
    }
    return failure
  })
  sending = sent
  return sent
}

async function sendToAccount(chosen: Preferences): Promise<string | undefined> {
  try {
    const response = await fetch(addressOf(accountPath), {
      method: 'PATCH',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(chosen),
      signal: AbortSignal.timeout(timeoutMs),
    })
    if (response.ok) return undefined
    return response.status === 401
      ? t('Your account does not have it yet: sign in again.')
      : t('Your account does not have it yet: the service refused it (status {status}).', { status: response.status })
  } catch {
    return t('Your account does not have it yet: the service does not answer.')
  }
}
