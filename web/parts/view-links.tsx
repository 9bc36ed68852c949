/** The links by which others see a saved view: made with an end, shown once, listed and revoked. */

import { useState } from 'preact/hooks'
import type { ViewLink } from '../../auth/views/link.ts'
import type { View } from '../../auth/views/view.ts'
import { addressOf } from '../client/address.ts'
import { useRefreshed } from '../client/use-resource.ts'
import { listed } from '../text/phrases.ts'
import { shownZone } from '../text/preferences.ts'
import { createTimes } from '../theme/times.ts'
import { embedCode } from './embed-code.ts'
import { isForWall } from './for-wall.ts'
import { RowButton } from './row-button.tsx'
import { SecretOnce } from './secret-once.tsx'
import { useActions } from './use-actions.tsx'

const api = '/v1/auth/me'

const lifetimes = [
  { days: 1, text: '1 day' },
  { days: 7, text: '7 days' },
  { days: 30, text: '30 days' },
  { days: 90, text: '90 days' },
  { days: 365, text: '1 year' },
]
const daysUsual = 30

/** The answer to the creation of a link. */
interface MadeLink {
  token: string
  embed_origins: readonly string[]
}

export function ViewLinks({ view, onClose }: { view: View; onClose: () => void }) {
  const { state, refresh } = useRefreshed<ViewLink[]>(addressOf(`${api}/view-links`))
  const { actions, notice } = useActions(api, refresh)
  const [made, setMade] = useState<MadeLink>()
  const links = state.kind === 'ready' || state.kind === 'stale' ? state.value : []
  const live = links.filter(link => link.view_id === view.id && isLive(link))
  return (
    <section class="links" aria-label={`Links to ${view.name}`}>
      {notice}
      {made === undefined ? null : <Made {...made} view={view} onDone={() => setMade(undefined)} />}
      <form
        onSubmit={event => {
          event.preventDefault()
          const days = Number(new FormData(event.currentTarget).get('days'))
          void actions
            .change<MadeLink>('POST', `/views/${view.id}/links`, { expires_in_days: days }, 'The link is made.')
            .then(setMade)
        }}
      >
        <p class="note">
          Anyone with a link sees this view without an account: its devices and their readings, nothing else. A view of
          the fleet shows the devices with its tags and its search, whatever their state is.
        </p>
        <label class="field">
          Valid for
          <select name="days">
            {lifetimes.map(({ days, text }) => (
              <option key={days} value={days} selected={days === daysUsual}>
                {text}
              </option>
            ))}
          </select>
        </label>
        <div class="actions">
          <button type="submit" class="button strong" disabled={actions.isBusy}>
            Make a link
          </button>
          <button type="button" class="button" onClick={onClose}>
            Done
          </button>
        </div>
      </form>
      {live.map(link => (
        <p key={link.id}>
          <code>{link.prefix}…</code> until {endOf(link)}{' '}
          <RowButton
            name={link.prefix}
            text="Revoke"
            onClick={() => void actions.change('DELETE', `/view-links/${link.id}`, undefined, 'The link is revoked.')}
          />
        </p>
      ))}
    </section>
  )
}

function isLive({ revoked_at, expires_at }: ViewLink): boolean {
  return revoked_at === null && Date.parse(expires_at) > Date.now()
}

function endOf({ expires_at }: ViewLink): string {
  return createTimes(shownZone('UTC')).dateTime(Date.parse(expires_at))
}

function Made({ token, embed_origins: origins, view, onDone }: MadeLink & { view: View; onDone: () => void }) {
  const addressAt = (path: string) => `${location.origin}${addressOf(path)}#${token}`
  const embed = { name: 'Embed code', text: embedCode(addressAt('/embed'), view.name) }
  return (
    <SecretOnce
      title="The link"
      text="It is shown once. Anyone with the link sees the view until it expires or is revoked."
      parts={[
        { name: 'Address', text: addressAt('/shared') },
        ...(isForWall(view.address) ? [{ name: 'Wall', text: addressAt('/wall') }] : []),
        ...(origins.length === 0 ? [] : [embed]),
      ]}
      onDone={onDone}
    >
      <p class="note">
        {origins.length === 0 ? (
          <>
            A page of another site can show the view in a frame once the setting <code>EMBED_ORIGINS</code> lists the
            origin of that site.
          </>
        ) : (
          `Pages of ${listed(origins)} can show the view by this code. The link is in their source, so anyone who reads it can use it.`
        )}
      </p>
    </SecretOnce>
  )
}
