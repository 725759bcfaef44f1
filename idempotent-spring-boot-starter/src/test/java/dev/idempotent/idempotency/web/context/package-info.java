/**
 * What the code of an application finds its context to be, wherever it runs.
 */
@NullMarked
package dev.idempotent.idempotency.web.context;

import org.jspecify.annotations.NullMarked;
