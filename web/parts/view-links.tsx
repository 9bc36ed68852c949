/** The links by which others see a saved view: made with an end, shown once, listed and revoked. */

import './saved-views.css'
import { useState } from 'preact/hooks'
import type { ViewLink } from '../../auth/views/link.ts'
import type { View } from '../../auth/views/view.ts'
import { addressOf } from '../client/address.ts'
import { lastValue } from '../client/resource-state.ts'
import { shownTitle } from '../client/tab.ts'
import { useRefreshed } from '../client/use-resource.ts'
import { listed } from '../text/phrases.ts'
import { shownZone } from '../text/preferences.ts'
import { createTimes } from '../text/times.ts'
import { t, tn, tp } from '../words/words.ts'
import { embedCode } from './embed-code.ts'
import { isForWall } from './for-wall.ts'
import { FailureBanner, Skeleton } from './loading.tsx'
import { RowButton } from './record.tsx'
import { SecretOnce } from './secret-once.tsx'
import { type Actions, useActions } from './use-actions.tsx'

const api = '/v1/auth/me'

const lifetimes = [1, 7, 30, 90, 365].map(days => ({
  days,
  text: days === 365 ? t('1 year') : tn(days, '{count} day', '{count} days'),
}))
const daysUsual = 30

/** The answer to the creation of a link. */
interface MadeLink {
  token: string
  embed_origins: readonly string[]
}

/** A link to the page at this address, which is saved as a view with the first one. */
export function SharePage({ address }: { address: string }) {
  const { state, refresh } = useRefreshed<View[]>(addressOf(`${api}/views`))
  if (state.kind === 'loading') return <Skeleton name={t('The list of views is loading')} rows={3} />
  if (state.kind === 'failed') return <FailureBanner state={state} timeText={createTimes('UTC').time} />
  const { pathname, search } = new URL(address, location.origin)
  const view = state.value.find(view => view.address === `${pathname}${search}`)
  async function save({ change }: Actions): Promise<View | undefined> {
    const taken = new Set(lastValue(state)?.map(({ name }) => name))
    const saved = await change<View>('POST', '/views', { name: freeName(shownTitle(), taken), address }, t('Saved.'))
    refresh()
    return saved
  }
  return <ViewLinks view={view} save={save} />
}

/** The title, with a number where a view has this name. */
function freeName(title: string, taken: ReadonlySet<string>): string {
  const short = title.slice(0, 90)
  let name = short
  for (let number = 2; taken.has(name); number++) name = `${short} ${number}`
  return name
}

interface ViewLinksProps {
  view: View | undefined
  /** Saves the view before its first link. */
  save?: (actions: Actions) => Promise<View | undefined>
  onClose?: () => void
}

export function ViewLinks({ view, save, onClose }: ViewLinksProps) {
  const { state, refresh } = useRefreshed<ViewLink[]>(addressOf(`${api}/view-links`))
  const { actions, notice } = useActions(api, refresh)
  const [made, setMade] = useState<MadeLink & { view: View }>()
  const links = lastValue(state) ?? []
  const live = links.filter(link => link.view_id === view?.id && isLive(link))
  async function make(days: number): Promise<void> {
    const shared = view ?? (await save?.(actions))
    if (shared === undefined) return
    const body = { expires_in_days: days }
    const link = await actions.change<MadeLink>('POST', `/views/${shared.id}/links`, body, t('The link is made.'))
    if (link !== undefined) setMade({ ...link, view: shared })
  }
  return (
    <section class="links" aria-label={t('Links to {value}', { value: view?.name ?? t('this page') })}>
      {notice}
      {made === undefined ? null : <Made {...made} onDone={() => setMade(undefined)} />}
      <form
        onSubmit={event => {
          event.preventDefault()
          void make(Number(new FormData(event.currentTarget).get('days')))
        }}
      >
        <p class="note">
          {t(
            'Anyone with a link sees this view without an account: its devices and their readings, nothing else. A view of the fleet shows the devices with its tags and its search, whatever their state is.',
          )}
        </p>
        <label class="field">
          {t('Valid for')}
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
            {t('Make a link')}
          </button>
          {onClose === undefined ? null : (
            <button type="button" class="button" onClick={onClose}>
              {t('Done')}
            </button>
          )}
        </div>
      </form>
      {live.map(link => (
        <p key={link.id}>
          {tp('{code} until {endOf}', { code: <code>{link.prefix}…</code>, endOf: endOf(link) })}{' '}
          <RowButton
            name={link.prefix}
            text={t('Revoke')}
            onClick={() =>
              void actions.change('DELETE', `/view-links/${link.id}`, undefined, t('The link is revoked.'))
            }
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
  const embed = { name: t('Embed code'), text: embedCode(addressAt('/embed'), view.name) }
  return (
    <SecretOnce
      title={t('The link')}
      text={t('It is shown once. Anyone with the link sees the view until it expires or is revoked.')}
      parts={[
        { name: t('Address'), text: addressAt('/shared') },
        ...(isForWall(view.address) ? [{ name: t('Wall'), text: addressAt('/wall') }] : []),
        ...(origins.length === 0 ? [] : [embed]),
      ]}
      onDone={onDone}
    >
      <p class="note">
        {origins.length === 0
          ? tp(
              'A page of another site can show the view in a frame once the setting {code} lists the origin of that site.',
              { code: <code>EMBED_ORIGINS</code> },
            )
          : t(
              'Pages of {list} can show the view by this code. The link is in their source, so anyone who reads it can use it.',
              { list: listed(origins) },
            )}
      </p>
    </SecretOnce>
  )
}
