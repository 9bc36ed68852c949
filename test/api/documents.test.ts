/** The published contract, its pages, and the error tables. */

import './documents/errors.ts'
import './documents/contract.ts'
import './documents/docs.ts'
