package dev.idempotent.saga.method;

import java.lang.reflect.Type;

import dev.idempotent.idempotency.IdempotencyResultException;
import dev.idempotent.idempotency.StoredResponse;
import dev.idempotent.idempotency.method.ResultCodec;
import dev.idempotent.saga.run.SagaDefinition.UnreadableException;
import dev.idempotent.saga.run.StepResults;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/**
 * Writes the results of steps as JSON, and reads them as the types of the steps.
 */
public final class JsonStepResults implements StepResults {

	private final JsonMapper json;

	/**
	 * Creates the reader and writer.
	 * @param json writes and reads the values
	 */
	public JsonStepResults(JsonMapper json) {
		this.json = json.rebuild().deactivateDefaultTyping().build();
	}

	@Override
	public byte[] write(Type type, @Nullable Object result) {
		return codec(type).encode(result).bytes();
	}

	@Override
	public @Nullable Object read(Type type, byte[] stored) {
		try {
			return codec(type).decode(StoredResponse.of(stored));
		}
		catch (IdempotencyResultException ex) {
			throw new UnreadableException("The recorded result of a step cannot be read as " + type.getTypeName(), ex);
		}
	}

	private ResultCodec codec(Type type) {
		return new ResultCodec(this.json, this.json.constructType(type), "a step");
	}

}
