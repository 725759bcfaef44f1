/**
 * One welcome voucher per user, however often it is requested and by which client: the
 * key comes from the business, and no client sends one.
 */
@NullMarked
package dev.idempotent.sample.voucher;

import org.jspecify.annotations.NullMarked;
