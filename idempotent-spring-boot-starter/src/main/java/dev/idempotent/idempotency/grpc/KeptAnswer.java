package dev.idempotent.idempotency.grpc;

import java.io.ByteArrayInputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Set;

import dev.idempotent.idempotency.StoredResponse;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import org.jspecify.annotations.Nullable;

/**
 * Writes and reads the stored form of an answer: a format version, the status, and the
 * message of an OK or the description of another status.
 */
final class KeptAnswer {

	private static final byte FORMAT = 1;

	private static final int HEADER_LENGTH = 2;

	/**
	 * With which a service answers that it will not do what it was asked for.
	 */
	private static final Set<Status.Code> REFUSALS = Set.of(Status.Code.INVALID_ARGUMENT, Status.Code.NOT_FOUND,
			Status.Code.ALREADY_EXISTS, Status.Code.FAILED_PRECONDITION, Status.Code.OUT_OF_RANGE);

	private KeptAnswer() {
	}

	/**
	 * Encodes an answer.
	 * @return what is kept, or {@code null} if a retry is to run
	 */
	static <R> @Nullable StoredResponse of(Status status, @Nullable R response, MethodDescriptor<?, R> method) {
		if (status.isOk() && response != null) {
			return encode(status, IdempotencyKeyMetadata.bytes(method.streamResponse(response)));
		}
		if (REFUSALS.contains(status.getCode())) {
			String description = (status.getDescription() != null) ? status.getDescription() : "";
			return encode(status, description.getBytes(StandardCharsets.UTF_8));
		}
		return null;
	}

	static <R> void replay(StoredResponse kept, ServerCall<?, R> call) {
		byte[] bytes = kept.bytes();
		if (bytes.length < HEADER_LENGTH || bytes[0] != FORMAT) {
			call.close(
					Status.FAILED_PRECONDITION.withDescription("The first call with this idempotency-key was carried "
							+ "out; its answer was not kept. Look up the outcome, do not repeat the call."),
					new Metadata());
			return;
		}
		Metadata replayed = new Metadata();
		replayed.put(IdempotencyKeyMetadata.REPLAYED, "true");
		Status status = Status.fromCodeValue(bytes[1]);
		if (status.isOk()) {
			call.sendHeaders(replayed);
			call.sendMessage(call.getMethodDescriptor()
				.parseResponse(new ByteArrayInputStream(bytes, HEADER_LENGTH, bytes.length - HEADER_LENGTH)));
			call.close(status, new Metadata());
		}
		else {
			String description = new String(bytes, HEADER_LENGTH, bytes.length - HEADER_LENGTH, StandardCharsets.UTF_8);
			call.close(description.isEmpty() ? status : status.withDescription(description), replayed);
		}
	}

	private static StoredResponse encode(Status status, byte[] content) {
		return StoredResponse.of(ByteBuffer.allocate(HEADER_LENGTH + content.length)
			.put(FORMAT)
			.put((byte) status.getCode().value())
			.put(content)
			.array());
	}

}
