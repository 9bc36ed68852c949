/** The title of the tab while a component is shown. */

import { useEffect } from 'preact/hooks'
import { setTitle, setTitleNotice } from './title.ts'

/** `notice`: `3 silent`, before the name of the page. */
export function useTitle(name: string, notice = ''): void {
  useEffect(() => setTitle(name), [name])
  useEffect(() => {
    setTitleNotice(notice)
    return () => setTitleNotice('')
  }, [notice])
}
