/**
 * The canonical form of a JSON body: equal for bodies that say the same, different for
 * all others. The only room of the first promise that turns JSON into its canonical form;
 * knows Jackson's streaming parser.
 */
@NullMarked
package dev.idempotent.idempotency.json;

import org.jspecify.annotations.NullMarked;
