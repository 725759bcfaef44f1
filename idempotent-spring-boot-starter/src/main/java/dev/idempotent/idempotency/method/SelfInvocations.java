package dev.idempotent.idempotency.method;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;
import org.springframework.util.ClassUtils;

/**
 * Finds calls that an object makes to methods of its own: they never pass the proxy
 * before it. Reads the class file; where a method handles another object of its own class
 * (such as an injected self), whose method it calls cannot be told, and nothing is said.
 */
final class SelfInvocations extends ClassVisitor {

	private final String type;

	private final Map<String, Method> watched;

	private final Set<Call> found = new LinkedHashSet<>();

	private SelfInvocations(Class<?> type, Set<Method> watched) {
		super(SpringAsmInfo.ASM_VERSION);
		this.type = Type.getInternalName(type);
		this.watched = watched.stream()
			.collect(Collectors.toMap((method) -> method.getName() + Type.getMethodDescriptor(method),
					Function.identity(), (one, other) -> one));
	}

	/**
	 * Finds the calls in a class.
	 * @param type the class
	 * @param watched its methods that are not to be called
	 */
	static Set<Call> of(Class<?> type, Set<Method> watched) {
		SelfInvocations visitor = new SelfInvocations(type, watched);
		try (InputStream bytes = type.getResourceAsStream(ClassUtils.getClassFileName(type))) {
			if (bytes != null) {
				new ClassReader(bytes).accept(visitor, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
			}
		}
		catch (IOException | IllegalArgumentException ex) {
			// A class file that cannot be read here tells nothing.
			return Set.of();
		}
		return visitor.found;
	}

	@Override
	public @Nullable MethodVisitor visitMethod(int access, String name, String descriptor, @Nullable String signature,
			String @Nullable [] exceptions) {
		boolean another = (access & Opcodes.ACC_STATIC) != 0 || descriptor.contains('L' + this.type + ';');
		return another ? null : new Calls(name);
	}

	/**
	 * A call of an object to itself.
	 *
	 * @param caller the calling method's name
	 * @param callee the method that is called
	 */
	record Call(String caller, String callee) {
	}

	private final class Calls extends MethodVisitor {

		private final String caller;

		private final Set<Call> calls = new LinkedHashSet<>();

		/**
		 * Whether the method handles another object of its class.
		 */
		private boolean another;

		private Calls(String caller) {
			super(SpringAsmInfo.ASM_VERSION);
			this.caller = caller;
		}

		@Override
		public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
			this.another |= descriptor.equals('L' + SelfInvocations.this.type + ';');
		}

		@Override
		public void visitTypeInsn(int opcode, String operand) {
			this.another |= operand.equals(SelfInvocations.this.type);
		}

		@Override
		public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
			this.another |= descriptor.endsWith(')' + "L" + SelfInvocations.this.type + ';');
			Method callee = SelfInvocations.this.watched.get(name + descriptor);
			if (callee != null && owner.equals(SelfInvocations.this.type)) {
				String own = SelfInvocations.this.type.replace('/', '.') + '.';
				this.calls.add(new Call(own + this.caller, own + callee.getName()));
			}
		}

		@Override
		public void visitEnd() {
			if (!this.another) {
				SelfInvocations.this.found.addAll(this.calls);
			}
		}

	}

}
