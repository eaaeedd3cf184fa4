// Specs of ops: the bytes are lines, each an attribute, an input or an output.
#include <cstdint>
#include <cstring>
#include <string>

#include "drystone/ops.h"
#include "drystone/status.h"
#include "fuzz_input.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input in(data, size);
  // Names that no op keeps: an invalid one, so that nothing is ever registered.
  TF_OpDefinitionBuilder* builder = TF_NewOpDefinitionBuilder("not a name");
  while (in.left() > 0) {
    const std::size_t kind = in.below(4);
    std::string line;
    for (std::uint8_t byte = in.byte(); byte != '\n' && byte != 0; byte = in.byte()) {
      line.push_back(static_cast<char>(byte));
    }
    switch (kind) {
      case 0: TF_OpDefinitionBuilderAddInput(builder, line.c_str()); break;
      case 1: TF_OpDefinitionBuilderAddOutput(builder, line.c_str()); break;
      case 2: TF_OpDefinitionBuilderDeprecated(builder, 1, line.c_str()); break;
      default: TF_OpDefinitionBuilderAddAttr(builder, line.c_str());
    }
  }
  TF_Status* status = TF_NewStatus();
  TF_RegisterOpDefinition(builder, status);
  if (TF_GetCode(status) == TF_OK || *TF_Message(status) == '\0') __builtin_trap();
  TF_DeleteStatus(status);
  return 0;
}
