/**
 * One welcome voucher per user, whoever asks for it and however often: the key is what
 * the business says it is, and no client sends one.
 */
@NullMarked
package dev.idempotent.sample.voucher;

import org.jspecify.annotations.NullMarked;
