/**
 * The canonical form of JSON documents: equal for equivalent documents, different for all
 * others. Depends on Jackson's streaming parser only.
 */
@NullMarked
package dev.idempotent.idempotency.json;

import org.jspecify.annotations.NullMarked;
