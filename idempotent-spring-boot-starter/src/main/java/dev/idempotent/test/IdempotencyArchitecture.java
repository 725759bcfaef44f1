package dev.idempotent.test;

import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;

import com.tngtech.archunit.core.domain.AccessTarget.CodeUnitAccessTarget;
import com.tngtech.archunit.core.domain.AccessTarget.FieldAccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaConstructor;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ArchRule;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import org.jspecify.annotations.Nullable;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;

/**
 * ArchUnit rules for mistakes of an application that have no effect at start-up, and that
 * the compiler and the start-up checks cannot see.
 */
public final class IdempotencyArchitecture {

	/**
	 * No method with {@code @Idempotent}, {@code @TransactionalOutbox} or {@code @Saga}
	 * is called by its own class or a subclass on {@code this}: the call would bypass the
	 * proxy of the bean, and the annotation would have no effect. A call by a method that
	 * also reads a field of the class, or has a parameter of it, is assumed to go to that
	 * other object.
	 */
	public static final ArchRule ANNOTATED_METHODS_ARE_CALLED_THROUGH_THEIR_PROXY = classes()
		.should(new NoSelfInvocation())
		.because("a call on this bypasses the proxy of the bean, and the annotation has no effect: call the method of "
				+ "another bean, or move it to one")
		.allowEmptyShould(true);

	/**
	 * No class with {@code @Saga} methods, and no class whose methods they call, creates
	 * an HTTP client by hand: its calls would carry no keys, so a step that is attempted
	 * again would take effect twice. What configuration classes create is not seen.
	 */
	public static final ArchRule SAGAS_USE_HTTP_CLIENTS_OF_SPRING_BOOT = classes().should(new NoHandmadeClients())
		.because(
				"the calls of a client that is created by hand carry no keys, and a step that is attempted again takes "
						+ "effect twice: inject RestClient.Builder or RestTemplateBuilder, and list the host in "
						+ "idempotent.client.targets")
		.allowEmptyShould(true);

	/**
	 * No method gives an object that it creates to an agent as a tool, as
	 * {@code ChatClient.prompt().tools(new Orders())} does, if a tool of its class is
	 * {@code @Idempotent}: only the bean is advised, and the annotation of the object
	 * would have no effect.
	 */
	public static final ArchRule IDEMPOTENT_TOOLS_ARE_BEANS = classes().should(new NoHandmadeTools())
		.because("an object that is created by hand is not advised, and its @Idempotent tools run at each call of the "
				+ "agent: inject the bean")
		.allowEmptyShould(true);

	private static final String SAGA = "dev.idempotent.saga.Saga";

	private static final String IDEMPOTENT = "dev.idempotent.idempotency.Idempotent";

	private static final List<String> TOOLS = List.of("org.springframework.ai.tool.annotation.Tool",
			"org.springframework.ai.mcp.annotation.McpTool");

	private static final Set<String> TOOL_METHODS = Set.of("tools", "defaultTools", "toolObjects", "toolObject");

	private static final List<String> ANNOTATIONS = List.of(IDEMPOTENT, "dev.idempotent.outbox.TransactionalOutbox",
			"dev.idempotent.outbox.TransactionalOutbox$Several", SAGA);

	private static final String REST_TEMPLATE = "org.springframework.web.client.RestTemplate";

	private static final Set<String> CLIENTS = Set.of("org.springframework.web.client.RestClient",
			"org.springframework.web.reactive.function.client.WebClient", "java.net.http.HttpClient");

	private static final Set<String> FACTORY_METHODS = Set.of("create", "builder", "newHttpClient", "newBuilder");

	private IdempotencyArchitecture() {
	}

	/**
	 * Returns whether a method, or one that it overrides, has one of the annotations.
	 */
	private static boolean isAnnotated(JavaMethod method, List<String> annotations) {
		JavaClass owner = method.getOwner();
		return Stream
			.concat(Stream.of(owner),
					Stream.concat(owner.getAllRawSuperclasses().stream(), owner.getAllRawInterfaces().stream()))
			.flatMap((type) -> type.tryGetMethod(method.getName(), namesOf(method.getRawParameterTypes())).stream())
			.anyMatch((declared) -> annotations.stream()
				.anyMatch((name) -> declared.isAnnotatedWith(name) || declared.isMetaAnnotatedWith(name)));
	}

	private static String[] namesOf(List<JavaClass> types) {
		return types.stream().map(JavaClass::getName).toArray(String[]::new);
	}

	/**
	 * Returns the method that a call, or a reference to a method, leads to.
	 */
	private static @Nullable JavaMethod methodOf(JavaAccess<?> access) {
		return (access.getTarget() instanceof CodeUnitAccessTarget target
				&& target.resolveMember().orElse(null) instanceof JavaMethod method) ? method : null;
	}

	/**
	 * Finds calls of annotated methods on {@code this}.
	 */
	private static final class NoSelfInvocation extends ArchCondition<JavaClass> {

		NoSelfInvocation() {
			super("not call their own annotated methods on this");
		}

		@Override
		public void check(JavaClass type, ConditionEvents events) {
			type.getAccessesFromSelf()
				.stream()
				.filter((access) -> isOnThis(type, access.getTargetOwner()))
				.filter(NoSelfInvocation::leadsToAnnotated)
				.filter((access) -> !isOfAnotherObject(access))
				.forEach((access) -> events.add(SimpleConditionEvent.violated(access, access.getDescription())));
		}

		/**
		 * An inner class may call the methods of its outer object.
		 */
		private static boolean isOnThis(JavaClass caller, JavaClass target) {
			return !target.isInterface() && (caller.isAssignableTo(target.getName())
					|| caller.getEnclosingClass().filter((outer) -> isOnThis(outer, target)).isPresent());
		}

		private static boolean leadsToAnnotated(JavaAccess<?> access) {
			JavaMethod method = methodOf(access);
			return method != null && isAnnotated(method, ANNOTATIONS) && !isOverriddenBy(method, access.getOrigin());
		}

		/**
		 * A method that calls the one that it overrides has been called itself.
		 */
		private static boolean isOverriddenBy(JavaMethod method, JavaCodeUnit caller) {
			return !caller.getOwner().equals(method.getOwner()) && caller.getName().equals(method.getName())
					&& caller.getRawParameterTypes().equals(method.getRawParameterTypes());
		}

		/**
		 * A class may have its own proxy injected. An inner object has its outer one in a
		 * synthetic field.
		 */
		private static boolean isOfAnotherObject(JavaAccess<?> access) {
			JavaCodeUnit caller = access.getOrigin();
			return Stream
				.concat(caller.getFieldAccesses()
					.stream()
					.map(JavaAccess::getTarget)
					.filter((field) -> !field.getName().startsWith("this$"))
					.map(FieldAccessTarget::getRawType), caller.getRawParameterTypes().stream())
				.anyMatch((type) -> type.isAssignableTo(access.getTargetOwner().getName()));
		}

	}

	/**
	 * Finds HTTP clients that are created by hand for steps of sagas.
	 */
	private static final class NoHandmadeClients extends ArchCondition<JavaClass> {

		NoHandmadeClients() {
			super("not create HTTP clients by hand for the steps of sagas");
		}

		@Override
		public void check(JavaClass type, ConditionEvents events) {
			if (type.getMethods().stream().anyMatch(NoHandmadeClients::isSaga)) {
				Set<JavaClass> involved = new HashSet<>(Set.of(type));
				type.getMethods()
					.stream()
					.filter(NoHandmadeClients::isSaga)
					.flatMap((method) -> method.getAccessesFromSelf().stream())
					.map(JavaAccess::getTargetOwner)
					.forEach((called) -> {
						involved.add(called);
						involved.addAll(called.getAllSubclasses());
					});
				involved.stream()
					.flatMap((each) -> each.getAccessesFromSelf().stream())
					.filter(NoHandmadeClients::createsClient)
					.forEach((access) -> events.add(SimpleConditionEvent.violated(access, access.getDescription())));
			}
		}

		private static boolean isSaga(JavaMethod method) {
			return isAnnotated(method, List.of(SAGA));
		}

		private static boolean createsClient(JavaAccess<?> access) {
			String owner = access.getTargetOwner().getName();
			String name = access.getTarget().getName();
			return (owner.equals(REST_TEMPLATE) && name.equals(JavaConstructor.CONSTRUCTOR_NAME))
					|| (CLIENTS.contains(owner) && FACTORY_METHODS.contains(name));
		}

	}

	/**
	 * Finds objects that are created and given to an agent by one method.
	 */
	private static final class NoHandmadeTools extends ArchCondition<JavaClass> {

		NoHandmadeTools() {
			super("not give idempotent tools to agents that are no beans");
		}

		@Override
		public void check(JavaClass type, ConditionEvents events) {
			type.getCodeUnits()
				.stream()
				.filter((caller) -> caller.getCallsFromSelf().stream().anyMatch(NoHandmadeTools::givesTools))
				.flatMap((caller) -> caller.getConstructorCallsFromSelf().stream())
				.filter((call) -> hasIdempotentTool(call.getTargetOwner()))
				.forEach((call) -> events.add(SimpleConditionEvent.violated(call, call.getDescription())));
		}

		private static boolean givesTools(JavaAccess<?> access) {
			return (access.getTargetOwner().getName().startsWith("org.springframework.ai.")
					&& TOOL_METHODS.contains(access.getTarget().getName()))
					|| access.getTargetOwner().getName().equals("org.springframework.ai.support.ToolCallbacks");
		}

		private static boolean hasIdempotentTool(JavaClass type) {
			return Stream.concat(Stream.of(type), type.getAllRawSuperclasses().stream())
				.flatMap((each) -> each.getMethods().stream())
				.anyMatch((method) -> isAnnotated(method, List.of(IDEMPOTENT)) && isAnnotated(method, TOOLS));
		}

	}

}
