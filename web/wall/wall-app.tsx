/** A saved view on the screen of a wall: large, without controls, kept current and awake by itself. */

import './wall.css'
import { useEffect, useLayoutEffect } from 'preact/hooks'
import type { SharedView } from '../../auth/views/link.ts'
import type { View } from '../../auth/views/view.ts'
import { addressOf, path, showFixed, urlArguments } from '../client/address.ts'
import { type Outcome, type ReadOptions, readJson } from '../client/read-json.ts'
import { hasToken } from '../client/request-token.ts'
import { lastValue, type ResourceState } from '../client/resource-state.ts'
import { routeOf } from '../client/routes.ts'
import { whileVisible } from '../client/screen.ts'
import { sharedViewPath } from '../client/shared-view.ts'
import { useResource } from '../client/use-resource.ts'
import { lazy, Skeleton } from '../parts/loading.tsx'
import { preferences } from '../text/preferences.ts'
import { createTimes } from '../text/times.ts'
import { t } from '../words/words.ts'
import { WallFleet } from './wall-fleet.tsx'
import { WallFrame, wallFailure } from './wall-frame.tsx'

const everyMs = 60_000

const WallCharts = lazy(t('chart'), () => import('./wall-charts.tsx').then(module => module.WallCharts))
const WallDashboard = lazy(t('dashboard'), () => import('./wall-dashboard.tsx').then(module => module.WallDashboard))
const source = wallSource()

export function WallApp() {
  const state = useResource<WallView>(source.url, { everyMs, read: source.read })
  const view = lastValue(state)
  // The class is set before the first paint, since the layout would shift.
  useLayoutEffect(() => document.body.classList.add('wall'), [])
  useEffect(() => view && showFixed(view.address), [view?.address])
  useEffect(keepAwake, [])
  useEffect(() => renewWhenNeeded(() => wallFailure.value !== undefined), [])
  useEffect(fillScreenWhenAsked, [])
  return (
    <>
      <Shown state={state} key={`${view?.address} ${JSON.stringify(preferences.value)}`} />
      {document.fullscreenEnabled ? <footer class="wall-hint">{t('F fills the screen.')}</footer> : null}
    </>
  )
}

function Shown({ state }: { state: ResourceState<WallView> }) {
  const view = lastValue(state)
  if (view === undefined) return <NoView state={state} />
  const page = routeOf(path.value)?.page
  if (page === undefined) return null
  if (page === 'fleet') return <WallFleet name={view.name} />
  if (page === 'charts') return <WallCharts name={view.name} />
  if (view.panels) return <WallDashboard name={view.name} panels={view.panels} state={state} />
  return (
    <main id="main">
      <h1>{view.name}</h1>
      <p class="none-here">{t('A wall shows the fleet, charts and dashboards, and this is another one.')}</p>
    </main>
  )
}

/** Shown without a view, while it loads, and after it was removed. */
function NoView({ state }: { state: ResourceState<WallView> }) {
  return (
    <WallFrame name={t('Wall')} state={state} times={createTimes(Intl.DateTimeFormat().resolvedOptions().timeZone)}>
      {state.kind === 'loading' ? <Skeleton name={t('The view is loading')} /> : null}
    </WallFrame>
  )
}

/** Browsers fill the screen for a key press alone. */
function fillScreenWhenAsked(): () => void {
  const onKeyDown = ({ key, ctrlKey, metaKey, altKey }: KeyboardEvent) => {
    if (key.toLowerCase() !== 'f' || ctrlKey || metaKey || altKey || document.fullscreenElement !== null) return
    document.documentElement.requestFullscreen().catch(() => undefined)
  }
  addEventListener('keydown', onKeyDown)
  return () => removeEventListener('keydown', onKeyDown)
}

/** Returns a function that ends it. */
function keepAwake(): () => void {
  let lock: WakeLockSentinel | undefined
  let isOver = false
  async function take(): Promise<void> {
    if (!('wakeLock' in navigator)) return
    try {
      const taken = await navigator.wakeLock.request('screen')
      if (isOver) await taken.release()
      else lock = taken
    } catch {
      // The browser may refuse, for example on low battery. Then the screen's own setting applies.
    }
  }
  // A browser takes the lock away when the page is hidden.
  const stop = whileVisible(isVisible => {
    if (isVisible) void take()
  })
  return () => {
    isOver = true
    stop()
    void lock?.release()
  }
}

type WallView = Pick<SharedView, 'name' | 'address' | 'panels'>

interface WallSource {
  url: string
  read: (url: string, options: ReadOptions) => Promise<Outcome<WallView>>
}

/** The source of a wall's view: its link, or the saved views of the session on that screen. */
function wallSource(): WallSource {
  if (hasToken()) return { url: addressOf(sharedViewPath), read: readJson<SharedView> }
  const id = urlArguments.peek().get('view')
  return {
    url: addressOf('/v1/auth/me/views'),
    async read(url, options) {
      const outcome = await readJson<View[]>(url, options)
      if (outcome.kind !== 'answer') return outcome
      const value = outcome.value.find(view => String(view.id) === id)
      if (value === undefined) return { kind: 'failure', failure: { kind: 'missing', sentence: t('view unknown') } }
      return { ...outcome, value }
    },
  }
}

const failingMsMax = 300_000

/** `isFailing` is called each minute. Returns a function that ends it. */
function renewWhenNeeded(isFailing: () => boolean): () => void {
  let shownTag: string | null | undefined
  let failsSinceMs: number | undefined
  async function look(): Promise<void> {
    const nowMs = Date.now()
    failsSinceMs = isFailing() ? (failsSinceMs ?? nowMs) : undefined
    const answer = await fetch(location.pathname, { method: 'HEAD', cache: 'no-store' }).catch(() => undefined)
    if (answer?.ok !== true) return
    const tag = answer.headers.get('etag')
    const isOther = shownTag !== undefined && tag !== shownTag
    shownTag ??= tag
    if (isOther || (failsSinceMs !== undefined && nowMs - failsSinceMs >= failingMsMax)) location.reload()
  }
  void look()
  const timer = setInterval(() => void look(), everyMs)
  return () => clearInterval(timer)
}
