/**
 * The annotation {@code @Idempotent}, its values and exceptions, and the SPI of stores.
 * Depends on the JDK and SLF4J only.
 */
@NullMarked
package dev.idempotent.idempotency;

import org.jspecify.annotations.NullMarked;
