/** How a rule would have behaved: asked once the rule has rested, and what was asked before is no longer waited for. */

import { useEffect, useState } from 'preact/hooks'
import type { PreviewAnswer } from '../../../alerts/core/preview-answer.ts'
import { addressOf } from '../../client/address.ts'
import { sendChange } from '../../client/send-change.ts'
import { useRested } from '../../client/use-rested.ts'

/** From the last key to the question. */
const restMs = 400

export interface ShownPreview {
  /** The last one that came; of a rule of some keys ago while another one is awaited. */
  readonly answer: PreviewAnswer | undefined
  readonly isLoading: boolean
  /** Why there is none, in a sentence. */
  readonly failure: string | undefined
}

const nothing: ShownPreview = { answer: undefined, isLoading: false, failure: undefined }

/** `body`: of the request, as JSON; undefined while there is no rule. */
export function usePreview(body: string | undefined): ShownPreview {
  const rested = useRested(body, restMs)
  const [shown, setShown] = useState<ShownPreview>(nothing)
  useEffect(() => {
    if (rested === undefined) {
      setShown(nothing)
      return undefined
    }
    let isWanted = true
    const asking = new AbortController()
    setShown(({ answer }) => ({ answer, isLoading: true, failure: undefined }))
    const request = (url: string, init: RequestInit) =>
      fetch(url, { ...init, signal: AbortSignal.any([asking.signal, init.signal as AbortSignal]) })
    const url = addressOf('/api/alert-rules/preview')
    void sendChange<PreviewAnswer>('POST', url, JSON.parse(rested), request).then(sent => {
      if (!isWanted) return
      if (sent.ok) setShown({ answer: sent.value, isLoading: false, failure: undefined })
      else setShown({ answer: undefined, isLoading: false, failure: sent.sentence })
    })
    return () => {
      isWanted = false
      asking.abort()
    }
  }, [rested])
  return shown
}
