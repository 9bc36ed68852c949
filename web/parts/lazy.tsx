/** Components that are loaded when they are first shown. */

import type { ComponentType } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { Banner } from './banner.tsx'
import { Skeleton } from './skeleton.tsx'

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
    if (loaded === undefined) return <Skeleton name={`The ${noun} is loading`} />
    if (loaded === 'failed') return <NotLoaded noun={noun} />
    return <loaded.Shown {...props} />
  }
}

/** The service is unavailable, or an update replaced its files. Loading the document again shows which. */
function NotLoaded({ noun }: { noun: string }) {
  return (
    <Banner kind="bad">
      This {noun} could not be loaded.{' '}
      <button type="button" class="button" onClick={() => location.reload()}>
        Try again
      </button>
    </Banner>
  )
}
