/**
 * What all promises share in their public API.
 */
@NullMarked
package dev.idempotent;

import org.jspecify.annotations.NullMarked;
