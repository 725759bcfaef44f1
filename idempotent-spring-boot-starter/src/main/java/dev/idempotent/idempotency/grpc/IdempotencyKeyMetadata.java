package dev.idempotent.idempotency.grpc;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

import dev.idempotent.idempotency.Fingerprint;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;

/**
 * What both sides of a call have in common: the names of the metadata, and how a call is
 * told from another.
 */
final class IdempotencyKeyMetadata {

	static final Metadata.Key<String> KEY = Metadata.Key.of("idempotency-key", Metadata.ASCII_STRING_MARSHALLER);

	static final Metadata.Key<String> REPLAYED = Metadata.Key.of("idempotent-replayed",
			Metadata.ASCII_STRING_MARSHALLER);

	private IdempotencyKeyMetadata() {
	}

	static <Q> Fingerprint fingerprint(MethodDescriptor<Q, ?> method, Q request) {
		return Fingerprint.of(List.of(method.getFullMethodName().getBytes(StandardCharsets.UTF_8),
				bytes(method.streamRequest(request))));
	}

	static byte[] bytes(InputStream message) {
		try (message) {
			return message.readAllBytes();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

}
