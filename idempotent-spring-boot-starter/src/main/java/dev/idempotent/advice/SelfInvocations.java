package dev.idempotent.advice;

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
import org.springframework.asm.Handle;
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
public final class SelfInvocations extends ClassVisitor {

	private static final String LAMBDA = "lambda$";

	private final String type;

	private final Map<String, Method> watched;

	private final Set<Call> found = new LinkedHashSet<>();

	private SelfInvocations(Class<?> type, Map<String, Method> watched) {
		super(SpringAsmInfo.ASM_VERSION);
		this.type = Type.getInternalName(type);
		this.watched = watched;
	}

	/**
	 * Finds the calls in a class and those that it extends.
	 * @param type the class
	 * @param watched its methods that are not to be called
	 * @return the calls
	 */
	public static Set<Call> of(Class<?> type, Set<Method> watched) {
		Map<String, Method> byName = watched.stream()
			.collect(Collectors.toMap((method) -> method.getName() + Type.getMethodDescriptor(method),
					Function.identity(), (one, other) -> one));
		Set<Call> found = new LinkedHashSet<>();
		Class<?> each = byName.isEmpty() ? null : type;
		while (each != null && each != Object.class) {
			found.addAll(new SelfInvocations(each, byName).read(each));
			each = each.getSuperclass();
		}
		return found;
	}

	private Set<Call> read(Class<?> declaring) {
		try (InputStream bytes = declaring.getResourceAsStream(ClassUtils.getClassFileName(declaring))) {
			if (bytes != null) {
				new ClassReader(bytes).accept(this, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
			}
		}
		catch (IOException | IllegalArgumentException ex) {
			// A class file that cannot be read here tells nothing.
			return Set.of();
		}
		return this.found;
	}

	@Override
	public @Nullable MethodVisitor visitMethod(int access, String name, String descriptor, @Nullable String signature,
			String @Nullable [] exceptions) {
		boolean another = (access & Opcodes.ACC_STATIC) != 0 || descriptor.contains('L' + this.type + ';');
		return another ? null : new Calls(nameInSource(name));
	}

	/**
	 * The body of a lambda expression is a method that nobody has written.
	 */
	private static String nameInSource(String name) {
		return !name.startsWith(LAMBDA) ? name : name.substring(LAMBDA.length(), name.lastIndexOf('$'));
	}

	/**
	 * A call of an object to itself.
	 *
	 * @param caller the calling method's name
	 * @param callee the method that is called
	 */
	public record Call(String caller, String callee) {
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
			visitCall(owner, name, descriptor);
		}

		/**
		 * A method reference calls later.
		 */
		@Override
		public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
			for (Object argument : arguments) {
				if (argument instanceof Handle handle) {
					visitCall(handle.getOwner(), handle.getName(), handle.getDesc());
				}
			}
		}

		private void visitCall(String owner, String name, String descriptor) {
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
