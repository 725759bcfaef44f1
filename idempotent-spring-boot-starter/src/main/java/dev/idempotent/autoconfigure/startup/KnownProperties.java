package dev.idempotent.autoconfigure.startup;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.springframework.asm.AnnotationVisitor;
import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.RecordComponentVisitor;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.boot.context.properties.bind.DataObjectPropertyName;
import org.springframework.util.Assert;

/**
 * The properties of this library, read from the class files of the records that they are
 * bound to. The classes cannot be loaded without their optional libraries, and a shaded
 * jar may lack the configuration metadata.
 */
final class KnownProperties extends ClassVisitor {

	private static final String AUTOCONFIGURE = "dev.idempotent.autoconfigure.";

	private static final List<String> RECORDS = List.of("idempotency.IdempotencyProperties",
			"idempotency.IdempotencyProperties$Web", "idempotency.IdempotencyProperties$ReplayCache",
			"idempotency.IdempotencyProperties$Method", "idempotency.IdempotencyProperties$Tool",
			"idempotency.IdempotencyProperties$Client", "idempotency.IdempotencyProperties$Redis",
			"idempotency.IdempotencyProperties$Jdbc", "idempotency.IdempotencyProperties$Token",
			"outbox.OutboxProperties", "actuate.OutboxHealthIndicator$Properties",
			"actuate.IdempotencyHealthIndicator$Properties", "actuate.SagaHealthIndicator$Properties",
			"stream.StreamProperties", "saga.SagaProperties", "EncryptionConfiguration$EncryptionProperties");

	private static final String PREFIX = "value";

	/**
	 * Part of the names of the records and enumerations within those records.
	 */
	private static final String NESTED = "Properties$";

	private final Map<String, String> types = new LinkedHashMap<>();

	private String prefix = "";

	private KnownProperties() {
		super(SpringAsmInfo.ASM_VERSION);
	}

	/**
	 * Reads the properties.
	 * @return the names in canonical form, with the type descriptors of their values
	 */
	static Map<String, String> read() {
		KnownProperties known = new KnownProperties();
		RECORDS.forEach((name) -> known.visit(open((AUTOCONFIGURE + name).replace('.', '/'))));
		return known.types;
	}

	private static ClassReader open(String name) {
		String file = '/' + name + ".class";
		try (InputStream bytes = KnownProperties.class.getResourceAsStream(file)) {
			Assert.state(bytes != null, () -> file + " is missing");
			return new ClassReader(bytes);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	private void visit(ClassReader type) {
		type.accept(this, ClassReader.SKIP_CODE | ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
	}

	@Override
	public @Nullable AnnotationVisitor visitAnnotation(String descriptor, boolean visible) {
		return !descriptor.endsWith("/ConfigurationProperties;") ? null
				: new AnnotationVisitor(SpringAsmInfo.ASM_VERSION) {

					@Override
					public void visit(String name, Object value) {
						if (PREFIX.equals(name) && value instanceof String text) {
							KnownProperties.this.prefix = text;
						}
					}

				};
	}

	@Override
	public @Nullable RecordComponentVisitor visitRecordComponent(String name, String descriptor,
			@Nullable String signature) {
		String property = this.prefix + '.' + DataObjectPropertyName.toDashedForm(name);
		ClassReader nested = descriptor.contains(NESTED) ? open(descriptor.substring(1, descriptor.length() - 1))
				: null;
		if (nested != null && nested.getSuperName().equals("java/lang/Record")) {
			String outer = this.prefix;
			this.prefix = property;
			visit(nested);
			this.prefix = outer;
		}
		else {
			this.types.put(property, descriptor);
		}
		return null;
	}

}
