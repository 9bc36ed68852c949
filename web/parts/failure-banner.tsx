/** Explains missing or stale data. */

import { signInAddress } from '../client/address.ts'
import type { Failure } from '../client/read-json.ts'
import { noticeOf, type ResourceState } from '../client/resource-state.ts'
import { useTitleNotice } from '../client/use-title.ts'
import { Banner } from './banner.tsx'

export interface FailureBannerProps {
  state: ResourceState<unknown>
  /** `12:04`, of a time by the browser's clock, in the person's zone. */
  timeText: (ms: number) => string
}

/** Renders nothing while the data are current. */
export function FailureBanner({ state, timeText }: FailureBannerProps) {
  if (state.kind === 'loading' || state.kind === 'ready') return null
  const { failure } = state
  const since = state.kind === 'stale' ? ` Data of ${timeText(state.atMs)}.` : ''
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
      return <>The service does not answer. The page goes on asking.</>
    case 'unavailable':
      return <>The service cannot read its data at the moment ({failure.sentence}). The page goes on asking.</>
    case 'signed-out':
      return (
        <>
          <a href={signInAddress()}>Sign in</a> to see this page.
        </>
      )
    case 'missing':
      return <>{failure.sentence}</>
    case 'refused':
      if (failure.status === 403) return <>Your account has no permission to see this page.</>
      return (
        <>
          The service refused this ({failure.status}): {failure.sentence}
        </>
      )
  }
}
