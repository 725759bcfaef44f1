package dev.idempotent.idempotency.openapi;

import java.util.List;

import io.swagger.v3.oas.models.media.Schema;

/**
 * Creates schemas for documents of OpenAPI 3.0, which have one type, and of OpenAPI 3.1,
 * which have a set of types.
 */
final class Schemas {

	private Schemas() {
	}

	static Schema<Object> text() {
		return ofType("string");
	}

	static Schema<Object> constant(String value) {
		Schema<Object> schema = text();
		schema.setEnum(List.of(value));
		return schema;
	}

	static Schema<Object> integer() {
		return ofType("integer");
	}

	static Schema<Object> truth() {
		return ofType("boolean");
	}

	static Schema<Object> object() {
		return ofType("object");
	}

	private static Schema<Object> ofType(String type) {
		Schema<Object> schema = new Schema<>();
		schema.type(type).addType(type);
		return schema;
	}

}
