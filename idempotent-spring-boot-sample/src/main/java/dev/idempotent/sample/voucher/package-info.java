/**
 * One welcome voucher per user, however often it is requested: the key is derived from
 * the request, and clients send none.
 */
@NullMarked
package dev.idempotent.sample.voucher;

import org.jspecify.annotations.NullMarked;
