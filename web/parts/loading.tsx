/** Content that is loading, missing or stale: banners, bars, and components that are loaded when they are first shown. */

import type { ComponentChildren, ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { signInAddress } from '../client/address.ts'
import type { Failure } from '../client/read-json.ts'
import { noticeOf, type ResourceState } from '../client/resource-state.ts'
import { useTitleNotice } from '../client/tab.ts'
import { t, tp } from '../words/words.ts'

interface BannerProps {
  kind: 'note' | 'warn' | 'bad'
  children: ComponentChildren
  /** Shows a button that ends it. */
  onDismiss?: () => void
}

/** Read out when it comes: a fault at once, anything else when the reader has finished its sentence. */
export function Banner({ kind, children, onDismiss }: BannerProps) {
  return (
    <div class={`banner ${kind}`} role={kind === 'bad' ? 'alert' : 'status'}>
      <div>{children}</div>
      {onDismiss === undefined ? null : (
        <button type="button" class="button" onClick={onDismiss}>
          {t('Dismiss')}
        </button>
      )}
    </div>
  )
}

interface FailureBannerProps {
  state: ResourceState<unknown>
  /** `12:04`, of a time by the browser's clock, in the person's zone. */
  timeText: (ms: number) => string
}

/** Renders nothing while the data are current. */
export function FailureBanner({ state, timeText }: FailureBannerProps) {
  if (state.kind === 'loading' || state.kind === 'ready') return null
  const { failure } = state
  const since = state.kind === 'stale' ? t(' Data of {time}.', { time: timeText(state.atMs) }) : ''
  return (
    <Banner kind={failure.kind === 'unavailable' ? 'warn' : 'bad'}>
      <FailureSentence failure={failure} />
      {since}
    </Banner>
  )
}

/** The same for all of a page, also in the title of the tab. */
export function PageFailure(props: FailureBannerProps) {
  useTitleNotice(noticeOf(props.state))
  return <FailureBanner {...props} />
}

function FailureSentence({ failure }: { failure: Failure }) {
  switch (failure.kind) {
    case 'unreachable':
      return <>{t('The service does not answer. The page goes on asking.')}</>
    case 'unavailable':
      return (
        <>
          {t('The service cannot read its data at the moment ({sentence}). The page goes on asking.', {
            sentence: failure.sentence,
          })}
        </>
      )
    case 'signed-out':
      return <>{tp('{link} to see this page.', { link: <a href={signInAddress()}>{t('Sign in')}</a> })}</>
    case 'missing':
      return <>{failure.sentence}</>
    case 'refused':
      if (failure.status === 403) return <>{t('Your account has no permission to see this page.')}</>
      return (
        <>
          {t('The service refused this ({status}): {sentence}', { status: failure.status, sentence: failure.sentence })}
        </>
      )
  }
}

interface SkeletonProps {
  /** Text for screen readers: `The fleet is loading`. */
  name: string
  rows?: number
}

export function Skeleton({ name, rows = 6 }: SkeletonProps) {
  return (
    <div class="skeleton" role="status">
      <span class="unseen">{name}</span>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} class="bar" />
      ))}
    </div>
  )
}

/** `noun` names the loading part in sentences, such as `page`. */
export function lazy<Props extends object>(
  noun: string,
  load: () => Promise<ComponentType<Props>>,
): ComponentType<Props> {
  return function Lazy(props: Props) {
    const [loaded, setLoaded] = useState<{ Shown: ComponentType<Props> } | 'failed' | undefined>()
    useEffect(() => {
      let isWanted = true
      load().then(
        Shown => isWanted && setLoaded({ Shown }),
        () => isWanted && setLoaded('failed'),
      )
      return () => {
        isWanted = false
      }
    }, [])
    if (loaded === undefined) return <Skeleton name={t('The {noun} is loading', { noun })} />
    if (loaded === 'failed') return <NotLoaded noun={noun} />
    return <loaded.Shown {...props} />
  }
}

/** The service is unavailable, or an update replaced its files. Loading the document again shows which. */
function NotLoaded({ noun }: { noun: string }) {
  return (
    <Banner kind="bad">
      {t('This {noun} could not be loaded.', { noun })}{' '}
      <button type="button" class="button" onClick={() => location.reload()}>
        {t('Try again')}
      </button>
    </Banner>
  )
}
