/** The frame of a wall's view: its name, its age and a lost connection. */

import { signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { useEffect } from 'preact/hooks'
import { serverNowMs } from '../client/clock.ts'
import type { Failure } from '../client/read-json.ts'
import { noticeOf, type ResourceState } from '../client/resource-state.ts'
import { useTitle, useTitleNotice } from '../client/tab.ts'
import type { Times } from '../theme/times.ts'
import { t } from '../words/words.ts'

interface WallFrameProps {
  name: string
  /** The state of the shown answer; `ready` or `stale` with its time. */
  state: ResourceState<unknown>
  times: Times
  /** Shown beside the time of the last update. */
  summary?: ComponentChildren
  children: ComponentChildren
}

export function WallFrame({ name, state, times, summary, children }: WallFrameProps) {
  useTitle(name)
  useTitleNotice(noticeOf(state))
  useEffect(() => {
    wallFailure.value = state.kind === 'failed' || state.kind === 'stale' ? state.failure : undefined
  }, [state])
  return (
    <>
      <header class="wall-head">
        <h1>{name}</h1>
        <p>
          {summary} <Updated state={state} times={times} />
        </p>
        <Clock times={times} />
      </header>
      <Lost state={state} times={times} />
      <main id="main">{children}</main>
    </>
  )
}

function Updated({ state, times }: Pick<WallFrameProps, 'state' | 'times'>) {
  return state.kind === 'ready' ? t('Updated {time}', { time: times.exact(state.atMs) }) : null
}

/** A wall that has stopped is seen by it. */
function Clock({ times }: { times: Times }) {
  return <p class="wall-clock">{times.time(serverNowMs.value)}</p>
}

function Lost({ state, times }: Pick<WallFrameProps, 'state' | 'times'>) {
  if (state.kind !== 'stale' && state.kind !== 'failed') return null
  return (
    <div class="wall-lost" role="alert">
      <p>
        {lostSentence(state.failure)}{' '}
        {state.kind === 'stale'
          ? t('Shown as of {time}.', { time: times.exact(state.atMs) })
          : t('There is nothing to show yet.')}
      </p>
    </div>
  )
}

function lostSentence(failure: Failure): string {
  switch (failure.kind) {
    case 'unreachable':
      return t('No connection to the service.')
    case 'unavailable':
      return t('The service cannot read its data at the moment ({sentence}).', { sentence: failure.sentence })
    case 'signed-out':
      return t('The link of this view has ended, or the session has ended.')
    case 'missing':
      return t('The view cannot be shown ({sentence}).', { sentence: failure.sentence })
    case 'refused':
      return t('The service refused to show this ({status}: {sentence}).', {
        status: failure.status,
        sentence: failure.sentence,
      })
  }
}

export const wallFailure = signal<Failure | undefined>(undefined)

/** Letters on a screen of this width are as large as on a desk. */
const widthAtDesk = 900
const scaleMax = 3

export function wallScale(widthPx: number): number {
  return Math.min(scaleMax, Math.max(1, widthPx / widthAtDesk))
}
